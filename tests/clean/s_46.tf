
module "autoscaling" {
  source  = "terraform-aws-modules/autoscaling/aws"
  version = "~> 9.0"
  for_each = {
    g5 = { instance_type = "g5.12xlarge" }
  }
  name = "gpu-${each.key}"
  image_id      = jsondecode(data.aws_ssm_parameter.ecs.value)["image_id"]
  instance_type = each.value.instance_type
  security_groups = [module.sg.security_group_id]
  user_data = base64encode(<<-EOT
    #!/bin/bash
    cat <<'EOF' >> /etc/ecs/ecs.config
    ECS_CLUSTER=${local.name}
    ECS_LOGLEVEL=debug
    ECS_CONTAINER_INSTANCE_TAGS=${jsonencode(local.tags)}
    ECS_ENABLE_TASK_IAM_ROLE=true
    EOF
  EOT
  )
  ignore_desired_capacity_changes = true
  create_iam_instance_profile = true
  iam_role_name = local.name
  iam_role_policies = { AmazonEC2ContainerServiceforEC2Role = "arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role" }
  vpc_zone_identifier = module.vpc.private_subnets
  health_check_type   = "EC2"
  min_size = 0
  max_size = 3
  desired_capacity = 1
  block_device_mappings = [{
    device_name = "/dev/xvda"
    ebs = { volume_size = 200, volume_type = "gp3", encrypted = true }
  }]
  autoscaling_group_tags = { AmazonECSManaged = true }
  protect_from_scale_in = true
}
module "ecs" {
  source  = "terraform-aws-modules/ecs/aws"
  version = "~> 6.0"
  cluster_name = local.name
  default_capacity_provider_strategy = { g5 = { weight = 60, base = 1 } }
  autoscaling_capacity_providers = {
    g5 = {
      auto_scaling_group_arn = module.autoscaling["g5"].autoscaling_group_arn
      managed_draining = "ENABLED"
      managed_termination_protection = "ENABLED"
      managed_scaling = { maximum_scaling_step_size = 2, minimum_scaling_step_size = 1, status = "ENABLED", target_capacity = 100 }
    }
  }
  services = {
    vllm = {
      cpu = 40960
      memory = 163840
      requires_compatibilities = ["EC2"]
      capacity_provider_strategy = { g5 = { capacity_provider = "g5", weight = 1, base = 1 } }
      health_check_grace_period_seconds = 1200
      container_definitions = {
        vllm = {
          image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/vllm:v0.9.2"
          command = ["--model", "/models/x", "--tensor-parallel-size", "4"]
          portMappings = [{ name = "http", containerPort = 8000, protocol = "tcp" }]
          resourceRequirements = [{ type = "GPU", value = 4 }]
          linuxParameters = { sharedMemorySize = 16384 }
          readonlyRootFilesystem = false
        }
      }
      load_balancer = { service = { target_group_arn = module.alb.target_groups["vllm"].arn, container_name = "vllm", container_port = 8000 } }
      subnet_ids = module.vpc.private_subnets
      security_group_ingress_rules = { alb = { from_port = 8000, referenced_security_group_id = module.alb.security_group_id } }
    }
  }
}
locals {
  name = "ex"
  tags = { a = "b" }
}
data "aws_ssm_parameter" "ecs" { name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended" }
module "vpc" {
  source = "terraform-aws-modules/vpc/aws"
  version = "~> 5.0"
  cidr = "10.0.0.0/16"
  azs = ["us-east-1a", "us-east-1b"]
  private_subnets = ["10.0.1.0/24", "10.0.2.0/24"]
}
